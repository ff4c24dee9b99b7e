"""The pages, one module each: functions from what was found to HTML."""
