"""Fixes: changes that a user can make, each tried in a capture of its own. See FIXES.md.

The Python lines of a fix are executed as they are printed: what is measured is what a user would write."""
