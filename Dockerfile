# docker build -t blowproof . && docker run --rm -v "$PWD:/data" blowproof audit policy.toml
FROM python:3.11-slim AS built
COPY . /src
RUN python -m venv /opt/blowproof \
 && /opt/blowproof/bin/pip install --no-cache-dir --constraint /src/constraints.txt '/src[fast]'

FROM python:3.11-slim
COPY --from=built /opt/blowproof /opt/blowproof
RUN useradd --create-home reader
USER reader
WORKDIR /data
ENV PATH=/opt/blowproof/bin:$PATH
ENTRYPOINT ["blowproof"]
CMD ["--help"]
