"""The pages: jinja2 templates and their style sheet."""
