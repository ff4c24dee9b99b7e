"""Pictures of boards in two forms: coloured text for terminals, SVG for pages."""
