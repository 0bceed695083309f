"""All that CI asks about a pull request, from one read and one compile."""
