#!/bin/sh
# Prints the rules of infra/monitoring/prometheus/rules as PrometheusRule resources for prometheus-operator. A kustomization cannot
# do this, because it reads no file outside its own directory. Usage: sh infra/kubernetes/prometheus-rules.sh | kubectl apply -f -
set -eu

cd "$(dirname "$0")/../monitoring/prometheus/rules"
for file in *.yml; do
  cat <<END
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: millrace-${file%.yml}
  namespace: millrace
  labels:
    app.kubernetes.io/part-of: millrace
spec:
END
  sed 's/^/  /' "$file"
done
