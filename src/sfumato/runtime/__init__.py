"""What is no concept of the field: processes, their messages and limits, and the machine that they run on."""
