"""llama.cpp's own HTTP server (PyPI xllamacpp), the peer of the engine benchmark.

    llama_server.py MODEL WINDOW THREADS

Prints one line with its address and ends when standard input ends, so that it never outlives the
benchmark.
"""
import os
import sys

import xllamacpp


def serve(model, window, threads):
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = window
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_gpu_layers = 0
    return xllamacpp.Server(parameters)


def main():
    model, window, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # llama.cpp may log to standard output; the address must be alone there.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = serve(model, window, threads)
    print(server.listening_address, file=answers, flush=True)
    sys.stdin.buffer.read()
    # The server's destructor can wait for its clients; there is nothing left to put away.
    os._exit(0)


if __name__ == "__main__":
    main()
