from pages import write

write()
