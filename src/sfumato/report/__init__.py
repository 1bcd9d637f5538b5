"""The report: one page and its charts, made for a reviewer who has never heard of sfumato."""

from sfumato.report.charts import attribute_losses_chart, frontier_chart
from sfumato.report.curves import class_sizes_chart
from sfumato.report.page import report_html

__all__ = ["attribute_losses_chart", "class_sizes_chart", "frontier_chart", "report_html"]
