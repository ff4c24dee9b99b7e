# Stands for postgres:18: the same user, folders, variables and first start. The release that has PostgreSQL 18 is forky.
FROM base
ENV PATH=$PATH:/usr/lib/postgresql/18/bin PGDATA=/var/lib/postgresql/18/docker
RUN sed 's/ [a-z]* main/ forky main/' /etc/apt/sources.list >/etc/apt/sources.list.d/forky.list \
    && groupadd -r -g 999 postgres && useradd -r -g postgres -u 999 -d /var/lib/postgresql -s /bin/bash postgres \
    && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql \
    && apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends postgresql-common \
    && sed -ri 's/#(create_main_cluster) .*$/\1 = false/' /etc/postgresql-common/createcluster.conf \
    && apt-get install -y -qq --no-install-recommends -t forky postgresql-18 \
    && apt-get clean \
    && install -d -o postgres -g postgres -m 3777 /var/run/postgresql
COPY --chmod=755 <<'END' /usr/local/bin/entrypoint
#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    printf %s "$POSTGRES_PASSWORD" >/tmp/password
    initdb -U "$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --auth-host=scram-sha-256 \
        -c listen_addresses='*' -E UTF8 -D "$PGDATA"
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses=" start
    createdb -U "$POSTGRES_USER" -T template0 "$POSTGRES_DB"
    pg_ctl -w -m fast stop
fi
exec "$@"
END
VOLUME /var/lib/postgresql
ENTRYPOINT ["entrypoint"]
CMD ["postgres"]
