"""Reports: one self-contained HTML file per quarter and one per series (`srsql report`).

``report`` chooses the page and the files that it goes to: ``internal_quarter`` and
``internal_series`` for the steward, ``imported_quarter`` of a foreign release,
``public_edition`` for everybody. They put what ``shapes``, ``signal_figures`` and ``worked_attack``
find into the templates (``page``), drawn by ``quarter_figures`` in the style of
``drawing``, with legends from ``glossary``.
"""
