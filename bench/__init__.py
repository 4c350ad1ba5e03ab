"""Speed tables: each module measures one thing beside its peers in one run, and prints a table with its recipe."""
