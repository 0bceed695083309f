"""The documentation as a site: `./dev site`."""
