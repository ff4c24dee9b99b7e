# Stands for redis:8.
FROM base
RUN groupadd -r -g 999 redis && useradd -r -g redis -u 999 redis \
    && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends redis-server \
    && apt-get clean \
    && install -d -o redis -g redis /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]
