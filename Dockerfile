# A steward's srsql: docker build -t srsql .   (.ci/container builds and runs it)
FROM python:3.12-slim
RUN useradd --create-home --uid 10001 steward && install -d -o steward -m 700 /data
COPY --chown=steward . /src
RUN pip install --no-cache-dir -c /src/constraints.txt '/src[all]'
USER steward
WORKDIR /data
VOLUME /data
ENV SRSQL_DB=/data/srsql.duckdb
ENTRYPOINT ["srsql"]
