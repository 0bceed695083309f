"""Is an object shaped as the API server wants it?"""
