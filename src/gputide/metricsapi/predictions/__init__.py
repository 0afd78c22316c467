"""metrics.alibabacloud.com: what autoscalers predict, as a page and as numbers."""
