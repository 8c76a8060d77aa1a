"""Presentation in notebooks: static HTML that is saved with the notebook; several views fit on one page."""
