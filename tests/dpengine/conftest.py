import hypothesis

# an example may take long on a busy machine
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.load_profile("house")
