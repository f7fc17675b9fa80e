package hosts

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The stateful sets, which name pods NAME-ORDINAL, and the headless services of the same
// names, which have each pod found as NAME-ORDINAL.NAME.
const (
	validatorSet = "v"
	runnerSet    = "r"
)

// apiService is how others in the cluster reach the API.
const apiService = "devnet"

// podDir is where a pod finds its node's files, and nobody else's.
const podDir = "/run/devnet"

// kubernetes is the network as objects of Kubernetes, of one namespace: two stateful
// sets with headless services, a service of the API, and what nodes are started with.
func (n *Network) kubernetes() string {
	var b strings.Builder
	b.WriteString("# A Cowboy network, a pod a node: kubectl apply -f kubernetes.yaml. Then kubectl port-forward\n" +
		"# service/devnet 4000 has its API on http://127.0.0.1:4000.\n")
	n.configMap(&b)
	n.secret(&b)
	headless(&b, validatorSet)
	if len(n.Runners) > 0 {
		headless(&b, runnerSet)
	}
	fmt.Fprintf(&b, `---
apiVersion: v1
kind: Service
metadata:
  name: %s
  labels: {app: devnet}
spec:
  selector: {statefulset.kubernetes.io/pod-name: %s-0}
  ports:
  - {name: http, port: %d, targetPort: http, protocol: TCP}
`, apiService, validatorSet, Port)
	n.statefulSet(&b, validatorSet, "validator", n.Validators)
	if len(n.Runners) > 0 {
		n.statefulSet(&b, runnerSet, "runner", n.Runners)
	}
	return b.String()
}

func (n *Network) configMap(b *strings.Builder) {
	fmt.Fprintf(b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: devnet-genesis\n  labels: {app: devnet}\nimmutable: true\n"+
		"binaryData:\n  %s: %s\n", GenesisFile, base64.StdEncoding.EncodeToString(n.GenesisBytes()))
}

// secret has settings and keys of all nodes; each pod is shown its own alone.
func (n *Network) secret(b *strings.Builder) {
	b.WriteString("---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: devnet-nodes\n  labels: {app: devnet}\nimmutable: true\n" +
		"stringData:\n")
	for _, node := range n.nodes() {
		fmt.Fprintf(b, "  %s: |\n", settingsFile(node.Name))
		for _, line := range strings.Split(strings.TrimSpace(n.settings(node)), "\n") {
			if line != "" {
				line = "    " + line
			}
			b.WriteString(line + "\n")
		}
		fmt.Fprintf(b, "  %s: %q\n", keyFile(node.Name), types.Hash(node.Key.Secret()).String())
	}
}

// headless writes the service by which pods of a set find one another, ready or not.
func headless(b *strings.Builder, set string) {
	fmt.Fprintf(b, `---
apiVersion: v1
kind: Service
metadata:
  name: %s
  labels: {app: devnet}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app: devnet, set: %s}
  ports:
  - {name: quic, port: %d, protocol: UDP}
  - {name: http, port: %d, protocol: TCP}
`, set, set, Port, Port)
}

func (n *Network) statefulSet(b *strings.Builder, set, kind string, nodes []Node) {
	fmt.Fprintf(b, `---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: %[1]s
  labels: {app: devnet}
spec:
  serviceName: %[1]s
  replicas: %[2]d
  podManagementPolicy: Parallel
  selector:
    matchLabels: {app: devnet, set: %[1]s}
  template:
    metadata:
      labels: {app: devnet, set: %[1]s}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      terminationGracePeriodSeconds: 40
      securityContext:
        runAsNonRoot: true
        runAsUser: %[3]d
        runAsGroup: %[3]d
        fsGroup: %[3]d
        seccompProfile: {type: RuntimeDefault}
      containers:
      - name: devnet
        image: %[4]q
        imagePullPolicy: IfNotPresent
        command: [devnet, node, %[5]s, --config, %[6]s/node.toml%[7]s]
        env:
        - name: POD
          valueFrom: {fieldRef: {fieldPath: metadata.name}}
        ports:
        - {name: quic, containerPort: %[8]d, protocol: UDP}
        - {name: http, containerPort: %[8]d, protocol: TCP}
        readinessProbe:
          exec: {command: [devnet, node, health, --config, %[6]s/node.toml]}
          periodSeconds: 10
          timeoutSeconds: 10
`, set, len(nodes), imageOwner, n.plan.Image, kind, podDir, map[string]string{"runner": ", --wait"}[kind], Port)
	if kind == "validator" { // a runner listens at no port that is known before
		b.WriteString("        livenessProbe:\n          tcpSocket: {port: http}\n          initialDelaySeconds: 60\n" +
			"          periodSeconds: 20\n")
	}
	fmt.Fprintf(b, `        resources:
          requests: {cpu: 100m, memory: 128Mi}
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
        volumeMounts:
        - {name: files, mountPath: %s, subPathExpr: $(POD), readOnly: true}
        - {name: home, mountPath: %s}
        - {name: tmp, mountPath: /tmp}
      volumes:
      - name: tmp
        emptyDir: {}
`, podDir, volume)
	if kind != "validator" {
		b.WriteString("      - name: home\n        emptyDir: {}\n")
	}
	b.WriteString("      - name: files\n        projected:\n          sources:\n          - secret:\n" +
		"              name: devnet-nodes\n              items:\n")
	for i, node := range nodes {
		fmt.Fprintf(b, "              - {key: %s, path: %s-%d/node.toml}\n", settingsFile(node.Name), set, i)
		fmt.Fprintf(b, "              - {key: %[1]s, path: %[2]s-%[3]d/%[1]s}\n", keyFile(node.Name), set, i)
	}
	b.WriteString("          - configMap:\n              name: devnet-genesis\n              items:\n")
	for i := range nodes {
		fmt.Fprintf(b, "              - {key: %[1]s, path: %[2]s-%[3]d/%[1]s}\n", GenesisFile, set, i)
	}
	if kind == "validator" {
		b.WriteString("  volumeClaimTemplates:\n  - metadata:\n      name: home\n    spec:\n      accessModes: [ReadWriteOnce]\n" +
			"      resources:\n        requests: {storage: 4Gi}\n")
	}
}
