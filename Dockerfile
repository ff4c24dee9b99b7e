# One image for every service of docker-compose.yml: coordinator, worker, migrate, web, flower. The cache mounts need
# BuildKit, which builds by default from Docker Engine 23.0 on.
ARG PYTHON=3.13-slim-trixie

# Compiles the kernel and installs everything into /opt/farthest, in the versions that constraints.txt names.
FROM python:${PYTHON} AS builder
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY constraints.txt ./
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv /tools \
    && /tools/bin/pip install --constraint constraints.txt \
        "scikit-build-core>=1.1" "nanobind>=3.1,<4" "cmake>=3.20" ninja
COPY CMakeLists.txt LICENSE README.md pyproject.toml ./
COPY kernel kernel
COPY src src
RUN PATH="/tools/bin:$PATH" pip wheel --no-deps --no-build-isolation --wheel-dir /wheels .
# The name of the file, not of the project: an index has no say in which farthest is installed.
RUN --mount=type=cache,target=/root/.cache/pip \
    python -m venv --without-pip /opt/farthest \
    && /tools/bin/pip --python /opt/farthest/bin/python install --constraint constraints.txt \
        "$(echo /wheels/farthest-*.whl)[monitor,otel,parquet,s3,web]"

FROM python:${PYTHON}
# These folders are volumes in docker-compose.yml. A fresh volume takes its owner from the folder here.
RUN groupadd --gid 10001 farthest \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin farthest \
    && install --directory --owner=10001 --group=10001 /var/lib/farthest/scratch /var/lib/farthest/blobs /var/lib/farthest/maps \
       /var/lib/farthest/tables
COPY --from=builder /opt/farthest /opt/farthest
ENV PATH=/opt/farthest/bin:$PATH \
    PYTHONUNBUFFERED=1
USER 10001:10001
CMD ["farthest", "--help"]
