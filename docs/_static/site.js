// What the theme leaves out for those who read by keyboard or by ear: what scrolls can be reached, and captions
// of the navigation have a level.
document.addEventListener("DOMContentLoaded", () => {
  for (const one of document.querySelectorAll("p.caption[role=heading]")) one.setAttribute("aria-level", "2");
  for (const one of document.querySelectorAll("pre, .table-wrapper")) one.tabIndex = 0;
});
