"""Parts shared by the two HTML pages: templates, tables of numbers, embedded pictures."""
