"""``semisquares datasets``: citation, licence and source of the paper's data sets."""

from __future__ import annotations

import click

from ._options import examples


@click.command(epilog=examples("semisquares datasets | less"))
def datasets() -> None:
    """Print citation, licence and source of the paper's sixteen data sets."""
    from ..paper.datasets.catalogue import sources_table

    for entry in sources_table():
        doi = f"https://doi.org/{entry['doi']}" if entry["doi"] else ""
        click.echo(
            f"{entry['name']}: {entry['rows']} rows, {entry['features']} features, "
            f"classes of {entry['classes']}; {entry['how']}"
        )
        click.echo(f"  {entry['citation']} {doi}".rstrip())
        click.echo(f"  licence: {entry['licence']}; source: {entry['source']}\n")
