# syntax=docker/dockerfile:1
# Builds the controller's image as `make image` does. The binary is static: it needs nothing of the image that it is put in,
# which is therefore empty. Whoever wants a shell, or certificates of a proxy, gives another base with --build-arg BASE=...
ARG GO_IMAGE=golang:1.26
ARG BASE=scratch

FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
ENV GOCACHE=/cache/build GOMODCACHE=/cache/modules
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/cache go mod download
COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=unknown
# The Makefile knows how binaries are built; here they are only built for the image's platform.
RUN --mount=type=cache,target=/cache GOOS=${TARGETOS} GOARCH=${TARGETARCH} make build VERSION=${VERSION}

FROM ${BASE}
COPY --from=build /src/bin/gatewright-controller /gatewright-controller
# By number, so that a cluster can tell that it is not root.
USER 65532:65532
ENTRYPOINT ["/gatewright-controller"]
