package hosts

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/cowboyinc/devnet/internal/base/types"
)

// The headless services: each pod is found as NODE-0.SERVICE.
const (
	validatorSet = "v"
	runnerSet    = "r"
)

const (
	// apiName is how others in the namespace reach the API.
	apiName = "devnet"
	// clientLabel marks the pods of others that may reach the API.
	clientLabel = "devnet-client"
	// podDir is where a pod finds the files of its node.
	podDir = "/run/devnet"
)

// Namespace is the default of Plan.Namespace.
const Namespace = "devnet"

// maxObjectData bounds the data of a Secret or a ConfigMap, in bytes: Kubernetes refuses
// more (MaxSecretSize of k8s.io/api/core/v1).
const maxObjectData = 1 << 20

// object is one object of Kubernetes.
type object struct {
	kind, name string
	data       int // bytes of a Secret or a ConfigMap
	text       string
}

// LargeError reports an object that Kubernetes would refuse.
type LargeError struct {
	Kind, Name string
	Bytes      int
}

func (e *LargeError) Error() string {
	return fmt.Sprintf("the %s %s has %d bytes, and Kubernetes takes at most %d", e.Kind, e.Name, e.Bytes, maxObjectData)
}

const kubernetesHead = `# A Cowboy network, one pod per node: kubectl apply --server-side -f kubernetes.yaml
#
# Without --server-side, kubectl keeps a copy of each object in an annotation of at most
# 262,144 bytes, which the genesis of a large network does not fit into.
#
# kubectl -n %[1]s port-forward service/devnet 4000 has its API on http://127.0.0.1:4000. The
# API signs for the named accounts. Other pods, of any namespace, reach it with the label
# %[2]s: "true", if the network of the cluster enforces policies.
#
# A changed image reaches a validator when its pod is deleted: one after the other, each
# once the one before is ready. docs/CONTAINERS.md has the loop.
`

// writeKubernetes returns the network as objects of one namespace. Each node has a Secret and a
// StatefulSet of one pod, so that no pod's volumes hold another node's key. Its error is a
// *LargeError.
func (n *Network) writeKubernetes() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, kubernetesHead, n.plan.Namespace, clientLabel)
	for _, o := range n.listObjects() {
		if o.data > maxObjectData {
			return "", &LargeError{o.kind, o.name, o.data}
		}
		b.WriteString("---\n" + o.text)
	}
	return b.String(), nil
}

// kustomizationFile is the file by which kubectl apply -k and other kustomizations take the
// network. Its image is changed by newName, newTag or digest there.
func (n *Network) kustomizationFile() string {
	name, _, _ := strings.Cut(n.plan.Image, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name = name[:at]
	}
	return fmt.Sprintf(`# kubectl apply --server-side -k . applies %[1]s. Another kustomization takes this
# folder as one of its resources.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [%[1]s]
images:
- {name: %[2]q, newName: %[2]q} # newTag or digest: the image of a registry
`, kubernetesFile, name)
}

func (n *Network) listObjects() []object {
	all := []object{n.genesisMap(), n.namesMap(), n.headlessService(validatorSet)}
	if !n.plan.Cluster.NoNamespace {
		all = append([]object{n.namespaceObject()}, all...)
	}
	if len(n.Runners) > 0 {
		all = append(all, n.headlessService(runnerSet))
	}
	all = append(all, n.apiService(), n.disruptionBudget(), n.ingressPolicy(), n.egressPolicy())
	if n.plan.Cluster.Monitor {
		all = append(all, n.podMonitor())
	}
	for _, node := range n.allNodes() {
		all = append(all, n.secretObject(node), n.statefulSet(node))
	}
	return all
}

// newObject begins with the fields that all objects of the namespace share.
func (n *Network) newObject(version, kind, name, rest string) object {
	return object{kind: kind, name: name, text: fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: %s\n"+
		"  labels: {app: devnet}\n%s", version, kind, name, n.plan.Namespace, rest)}
}

// namespaceObject admits only pods that need no privilege.
func (n *Network) namespaceObject() object {
	return object{kind: "Namespace", name: n.plan.Namespace, text: fmt.Sprintf(`apiVersion: v1
kind: Namespace
metadata:
  name: %s
  labels: {app: devnet, pod-security.kubernetes.io/enforce: restricted}
`, n.plan.Namespace)}
}

func (n *Network) genesisMap() object {
	data := n.GenesisBytes()
	o := n.newObject("v1", "ConfigMap", "devnet-genesis", fmt.Sprintf("immutable: true\nbinaryData:\n  %s: %s\n", GenesisFile,
		base64.StdEncoding.EncodeToString(data)))
	o.data = len(data)
	return o
}

// namesMap has the names of all nodes once, for all validators.
func (n *Network) namesMap() object {
	text := n.namesTable()
	o := n.newObject("v1", "ConfigMap", "devnet-names", fmt.Sprintf("immutable: true\ndata:\n  %s: |\n%s", namesFile, indentText(text)))
	o.data = len(text)
	return o
}

func secretName(node string) string { return "devnet-" + node }

// secretObject has the settings and the key of one node.
func (n *Network) secretObject(node Node) object {
	settings, key := n.settingsOf(node), types.Hash(node.Key.Secret()).String()
	o := n.newObject("v1", "Secret", secretName(node.Name), fmt.Sprintf("immutable: true\nstringData:\n  node.toml: |\n%s  %s: %q\n",
		indentText(settings), keyFile(node.Name), key))
	o.data = len(settings) + len(key)
	return o
}

// indentText is a text as a block of a field of data.
func indentText(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text) + "\n") {
		if line != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// headlessService is the service by which pods find one another, ready or not. Runners dial, and
// have no port.
func (n *Network) headlessService(set string) object {
	ports := ""
	if set == validatorSet {
		ports = fmt.Sprintf("  ports:\n  - {name: quic, port: %[1]d, protocol: UDP}\n  - {name: http, port: %[1]d, protocol: TCP}\n", Port)
	}
	return n.newObject("v1", "Service", set, fmt.Sprintf(`spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app: devnet, set: %s}
%s`, set, ports))
}

// serviceNames are those by which pods of the cluster call the API of a validator: its own and
// the service's, short, with the namespace, and whole.
func (n *Network) serviceNames(validator string) (all []string) {
	for _, name := range []string{apiName, validator + "-0." + validatorSet} {
		in := name + "." + n.plan.Namespace
		all = append(all, name, in, in+".svc", in+".svc.cluster.local")
	}
	return all
}

// podMonitor has the operator of Prometheus ask each validator for its metrics.
func (n *Network) podMonitor() object {
	return n.newObject("monitoring.coreos.com/v1", "PodMonitor", "devnet", fmt.Sprintf(`spec:
  selector:
    matchLabels: {app: devnet, set: %s}
  podMetricsEndpoints:
  - {port: http, path: /metrics, interval: 15s}
`, validatorSet))
}

// apiService is the API, of any validator that is ready. A client stays with one, so that it
// reads what it wrote.
func (n *Network) apiService() object {
	return n.newObject("v1", "Service", apiName, fmt.Sprintf(`spec:
  selector: {app: devnet, set: %s}
  sessionAffinity: ClientIP
  ports:
  - {name: http, port: %d, targetPort: http, protocol: TCP}
`, validatorSet, Port))
}

// disruptionBudget keeps a quorum while machines of the cluster are drained: f validators may be
// moved at a time. With f = 0 one may be, and the chain waits for it. A pod that is not ready
// may always be moved: it is missing already.
func (n *Network) disruptionBudget() object {
	return n.newObject("policy/v1", "PodDisruptionBudget", validatorSet, fmt.Sprintf(`spec:
  maxUnavailable: %d
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {app: devnet, set: %s}
`, max(1, n.Genesis.Validators.MaxFaulty()), validatorSet))
}

// ingressPolicy lets nodes reach one another, and labelled pods of any namespace the API. Metrics
// are read by whoever a monitor is for.
func (n *Network) ingressPolicy() object {
	return n.newObject("networking.k8s.io/v1", "NetworkPolicy", "devnet-ingress", fmt.Sprintf(`spec:
  podSelector:
    matchLabels: {app: devnet}
  policyTypes: [Ingress]
  ingress:
  - from:
    - podSelector:
        matchLabels: {app: devnet}
    ports:
    - {port: %[1]d, protocol: UDP}
    - {port: %[1]d, protocol: TCP}
  - from:
    - namespaceSelector: {}
      podSelector:
        matchLabels: {%[2]s: "true"}
%[3]s    ports:
    - {port: %[1]d, protocol: TCP}
`, Port, clientLabel, n.monitorPeer()))
}

// monitorPeer lets the pods of Prometheus in, wherever they are.
func (n *Network) monitorPeer() string {
	if !n.plan.Cluster.Monitor {
		return ""
	}
	return "    - namespaceSelector: {}\n      podSelector:\n        matchLabels: {app.kubernetes.io/name: prometheus}\n"
}

// egressPolicy keeps validators to the nodes and to names. Runners reach what their jobs ask for.
func (n *Network) egressPolicy() object {
	return n.newObject("networking.k8s.io/v1", "NetworkPolicy", "devnet-egress", fmt.Sprintf(`spec:
  podSelector:
    matchLabels: {app: devnet, set: %[1]s}
  policyTypes: [Egress]
  egress:
  - to:
    - podSelector:
        matchLabels: {app: devnet}
    ports:
    - {port: %[2]d, protocol: UDP}
    - {port: %[2]d, protocol: TCP}
  - ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
`, validatorSet, Port))
}

// role is what the pods of validators and of runners differ in.
type role struct{ set, kind, flags, update, resources, ports, health, probe, maps, home string }

var kinds = map[bool]role{ // by whether it is a validator
	// A stateful set of each validator would replace its pod at once, and the quorum with them.
	true: {set: validatorSet, kind: "validator", update: "  updateStrategy: {type: OnDelete}\n", health: ", --alone",
		resources: `          requests: {cpu: 100m, memory: 256Mi}
          limits: {cpu: "2", memory: 6Gi, ephemeral-storage: 2Gi}
`,
		ports: fmt.Sprintf(`        ports:
        - {name: quic, containerPort: %[1]d, protocol: UDP}
        - {name: http, containerPort: %[1]d, protocol: TCP}
`, Port),
		probe: `        livenessProbe:
          tcpSocket: {port: http}
          initialDelaySeconds: 60
          periodSeconds: 20
`,
		maps: `          - configMap: {name: devnet-genesis}
          - configMap: {name: devnet-names}
`},
	false: {set: runnerSet, kind: "runner", flags: ", --wait", // it has no port that is known before, so no probe of one
		resources: `          requests: {cpu: 50m, memory: 64Mi}
          limits: {cpu: "1", memory: 1Gi, ephemeral-storage: 2Gi}
`,
		home: `      - name: home
        emptyDir: {sizeLimit: 1Gi}
`},
}

// statefulSet is the pod of one node. Validators are spread over the machines of a cluster,
// since one of them could otherwise take the quorum along.
func (n *Network) statefulSet(node Node) object {
	r := kinds[node.Endpoint != ""]
	unsatisfiable := "ScheduleAnyway"
	if r.set == validatorSet {
		unsatisfiable = "DoNotSchedule"
	}
	return n.newObject("apps/v1", "StatefulSet", node.Name, fmt.Sprintf(`spec:
  serviceName: %[1]s
  replicas: 1
%[9]s  selector:
    matchLabels: {app: devnet, node: %[2]s}
  template:
    metadata:
      labels: {app: devnet, set: %[1]s, node: %[2]s}
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
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: %[4]s
        nodeTaintsPolicy: Honor
        labelSelector:
          matchLabels: {app: devnet, set: %[1]s}
      - maxSkew: 1
        topologyKey: topology.kubernetes.io/zone
        whenUnsatisfiable: ScheduleAnyway
        labelSelector:
          matchLabels: {app: devnet, set: %[1]s}
%[17]s      containers:
      - name: devnet
        image: %[5]q
        imagePullPolicy: IfNotPresent
        command: [devnet, node, %[6]s, --config, %[7]s/node.toml%[8]s]
%[18]s        readinessProbe:
          exec: {command: [devnet, node, health, --config, %[7]s/node.toml%[19]s]}
          periodSeconds: 10
          timeoutSeconds: 10
%[10]s        resources:
%[11]s        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities: {drop: [ALL]}
        volumeMounts:
        - {name: files, mountPath: %[7]s, readOnly: true}
        - {name: home, mountPath: %[12]s}
        - {name: tmp, mountPath: /tmp}
      volumes:
      - name: tmp
        emptyDir: {sizeLimit: 1Gi}
%[13]s      - name: files
        projected:
          defaultMode: 0440
          sources:
          - secret: {name: %[14]s}
%[15]s%[16]s`, r.set, node.Name, imageOwner, unsatisfiable, n.plan.Image, r.kind, podDir, r.flags, r.update, r.probe, r.resources, volume, r.home,
		secretName(node.Name), r.maps, n.volumeClaim(r.set), n.pullSecret(), r.ports, r.health))
}

// volumeClaim is the volume of a validator's home.
func (n *Network) volumeClaim(set string) string {
	if set != validatorSet {
		return ""
	}
	class := ""
	if n.plan.Cluster.StorageClass != "" {
		class = fmt.Sprintf("      storageClassName: %s\n", n.plan.Cluster.StorageClass)
	}
	return fmt.Sprintf(`  volumeClaimTemplates:
  - metadata:
      name: home
    spec:
      accessModes: [ReadWriteOnce]
%s      resources:
        requests: {storage: %s}
`, class, n.plan.Cluster.Storage)
}

func (n *Network) pullSecret() string {
	if n.plan.Cluster.PullSecret == "" {
		return ""
	}
	return fmt.Sprintf("      imagePullSecrets: [{name: %s}]\n", n.plan.Cluster.PullSecret)
}
