# A server with the model of saving_torch.py: it answers a POST of images, as JSON, with their digits.
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch

model = torch.export.load("digits.pt2").module()


class Digits(BaseHTTPRequestHandler):
    def do_POST(self):
        images = torch.tensor(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        with torch.no_grad():
            predicted = model(images)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(predicted.argmax(1).tolist()).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Digits)
print(server.server_port, flush=True)
server.serve_forever()
