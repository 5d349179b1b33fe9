# Three DataParallel objects that train at the same time on the same devices: prints how many have ended. A process of its
# own, because threads that wait for each other can't be ended.
import threading

import numpy as np

import paddle_mini as pm

STEPS = 200


def trainer(places):
    """A function that trains."""
    main, startup, replicas = pm.Program(), pm.Program(), pm.DataParallel(places)
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 8])
        loss = pm.layers.mean(pm.layers.fc(pm.layers.fc(x, 8), 8))
        replicas.wrap(pm.optimizer.SGD(0.1)).minimize(loss)
    replicas.run(startup)

    def train():
        for _ in range(STEPS):
            replicas.run(main, feed={"x": np.ones((4, 8), "float32")}, fetch_list=[loss])

    return train


if __name__ == "__main__":
    places = [pm.EmulatedPlace(0), pm.EmulatedPlace(1)]
    threads = [threading.Thread(target=trainer(order)) for order in (places, places[::-1], places)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(threads))
