"""Would Kueue admit these jobs?"""
