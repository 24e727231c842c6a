"""Reports: one self-contained HTML file per quarter and one per series."""

from srsql.engine.report.editions import Report, file_name, report, write_report

__all__ = ["Report", "file_name", "report", "write_report"]
