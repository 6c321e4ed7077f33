"""What a kernel's counters teach: the facts that matter most, each with its number, line, cost and a way out.

Belongs here: facts.py reads a profile, rules.py is the table of lessons, advice.py picks among them and
view.py has the words. rungs.py is the view of `bench --explain`: what a ladder's rungs say of themselves.
"""
