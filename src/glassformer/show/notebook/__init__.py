"""How results look in a notebook: static HTML that stays when the notebook is saved, several views on one page."""
