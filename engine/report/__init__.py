"""Reports: one self-contained HTML file per quarter and one per series.

``editions`` chooses the page: ``internal_quarter`` and ``internal_series`` for the steward,
``public_edition`` for everybody. They put what ``shapes``, ``signal_figures`` and ``worked_attack``
find into the templates (``page``), drawn by ``quarter_figures`` in the style of ``drawing``, with
legends from ``glossary``.
"""

from srsql.engine.report.editions import Report, file_name, report, write_report

__all__ = ["Report", "file_name", "report", "write_report"]
