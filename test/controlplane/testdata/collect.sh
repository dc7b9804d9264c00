# Creates a Widget and a ConfigMap that it owns, deletes the Widget, and ends
# well once the ConfigMap has been collected.
set -eu
widget='{"apiVersion": "controlplane.gatewright.dev/v1", "kind": "Widget", "metadata": {"name": "owner"}}'
uid=$(echo "$widget" | kubectl create -f - -o 'jsonpath={.metadata.uid}')
kubectl create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences:
  - {apiVersion: controlplane.gatewright.dev/v1, kind: Widget, name: owner, uid: $uid}
EOF
kubectl delete widget owner
kubectl wait --for=delete configmap/owned --timeout=100s
