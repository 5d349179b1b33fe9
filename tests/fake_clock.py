# A clock that a test advances.


class Clock:
    def __init__(self, now=1000.0):
        self.now = now

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        self.now += seconds
