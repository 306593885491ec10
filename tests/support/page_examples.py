"""Run the examples of a page in Markdown."""

import doctest
import re

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def check_examples(name, text):
    """Check that a page has examples, and that they print the results on the page."""
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, name, None, None)
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=failures.append)
    assert examples.examples
    assert not failures, "".join(failures)
