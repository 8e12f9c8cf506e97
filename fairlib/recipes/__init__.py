"""How every bundled table is computed from genuine files.

There is one module per source, and a recipe per table. Nothing here is needed to read a
bundled table; a table's card names the module that holds its recipe.
"""
