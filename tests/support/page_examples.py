"""Run the examples of a page in Markdown."""

import doctest
import re

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def check_examples(name, text):
    """Check that a page has examples, and that they print what it says."""
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    examples = doctest.DocTestParser().get_doctest(code, {}, name, None, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(examples, out=said.append)
    assert examples.examples
    assert not said, "".join(said)
