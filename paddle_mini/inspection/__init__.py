# Inspection: what a program consists of, and what it does in a run.
"""Imported when it is used: pm.summary, pm.profile, pm.check_finite, Program.to_dot."""
