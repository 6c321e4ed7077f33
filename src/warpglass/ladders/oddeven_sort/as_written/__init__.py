"""The step that the course notes begin with, to show why it fails."""
