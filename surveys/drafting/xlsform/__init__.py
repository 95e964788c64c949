"""XLSForms into a draft and out of one."""
