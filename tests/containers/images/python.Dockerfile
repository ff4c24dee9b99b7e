# Stands for python:3.13-slim-trixie.
FROM base
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends python3.13 python3.13-venv python3.13-dev \
    && apt-get clean \
    && for name in python python3; do ln -s /usr/bin/python3.13 /usr/local/bin/$name; done
CMD ["python3"]
