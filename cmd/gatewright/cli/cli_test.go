package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite what the commands are expected to print")

// outcome is what a command left behind.
type outcome struct {
	out, err string
	code     int
}

func command(stdin string, args ...string) outcome {
	var out, errs bytes.Buffer
	code := Run(args, "v1.2.3", Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return outcome{out.String(), errs.String(), code}
}

// String is how an outcome stands in a golden file.
func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\n--- standard error\n%s--- standard output\n%s", o.code, o.err, o.out)
}

func TestCommandsPrintWhatIsExpected(t *testing.T) {
	files := map[string]bool{}
	const world, broken = "testdata/world", "testdata/broken/"
	const kinds = "testdata/kinds.yaml"
	const reach = "reach -f " + world + " -f testdata/reach.yaml "
	const schema = "../../../docs/examples/values/schema"
	const contract = "reach -f " + schema + " "
	for name, c := range map[string]struct {
		args  string
		stdin string
		// program is what the tool is called by; empty means gatewright.
		program string
	}{
		"render prints what it can, and tells all that is refused, pending and lost": {args: "render -f " + world},
		"render goes on from live objects, and then tells addresses":                 {args: "render -f " + world + " --observed testdata/live.yaml"},
		"render of one Gateway tells of its own policies only":                       {args: "render -f " + world + " --gateway infra/web -o json"},
		"render of routes of every kind, and of what they refer to":                  {args: "render -f " + kinds},
		"render reads standard input, in the namespace given":                        {args: "render -f - -f testdata/world/10-provider.yaml -n infra --gateway web", stdin: plainGateway},
		"render says what failed, and prints the rest":                               {args: "render -f " + broken + "render.yaml"},
		"render holds back values that the schema does not allow":                    {args: "render -f " + schema + " --gateway shop/greedy"},
		"render holds back what an invalid policy guards":                            {args: "render -f " + world + " -f " + broken + "held.yaml --gateway infra/web"},
		"render names every problem of a blueprint":                                  {args: "render -f " + broken + "blueprint.yaml"},
		"render names what a class lacks":                                            {args: "render -f " + broken + "noblueprint.yaml"},
		"render fails for a Gateway that is not there":                               {args: "render -f " + world + " --gateway infra/nobody"},
		"render fails for a Gateway of somebody else":                                {args: "render -f " + world + " --gateway stranger/other"},
		"render fails where there is nothing to render":                              {args: "render -f " + broken + "nothing.yaml"},
		"render knows its formats":                                                   {args: "render -f " + world + " -o table"},
		"render wants a namespace and a name":                                        {args: "render -f " + world + " --gateway a/b/c"},

		"a file that is not there is named":                     {args: "render -f testdata/nowhere.yaml"},
		"a directory without manifests is named":                {args: "render -f testdata/empty"},
		"text that is not YAML is told with its line":           {args: "render -f " + broken + "yaml.yaml"},
		"fields that nobody knows are told with their lines":    {args: "render -f " + broken + "field.yaml"},
		"fields that nobody knows may be passed over":           {args: "render -f testdata/world/10-provider.yaml -f " + broken + "field.yaml --validate warn --gateway web"},
		"a value of the wrong type is told with its line":       {args: "render -f " + broken + "type.yaml"},
		"an object that stands twice is told with both places":  {args: "render -f " + broken + "twice.yaml"},
		"a way to validate that does not exist is refused":      {args: "render -f " + world + " --validate never"},
		"a kubeconfig that is not there is named":               {args: "render --kubeconfig testdata/nowhere.yaml"},
		"live objects that cannot be read are told with a line": {args: "render -f " + world + " --observed " + broken + "yaml.yaml"},

		"values of a Gateway, as a table":                        {args: "values -f " + world + " --gateway infra/web"},
		"values of a Gateway, as JSON":                           {args: "values -f " + world + " --gateway infra/web -o json"},
		"values of a listener, by its unique name":               {args: "values -f " + world + " --gateway infra/web --listener http -o yaml"},
		"values of a listener that is refused":                   {args: "values -f " + world + " --gateway infra/web --listener udp"},
		"values of a route, under each parent, as a table":       {args: "values -f " + world + " --httproute shop/cart"},
		"values of a route, under each parent, as YAML":          {args: "values -f " + world + " --httproute shop/cart -o yaml"},
		"values of a route, under one parent, as JSON":           {args: "values -f " + world + " --httproute shop/cart --parent listenerset/shop/shop -o json"},
		"values of a route under a parent that it does not have": {args: "values -f " + world + " --httproute shop/cart --parent infra/nobody --listener http"},
		"values of a route that is not there":                    {args: "values -f " + world + " --httproute shop/nobody"},
		"values of a GRPCRoute of the name of an HTTPRoute":      {args: "values -f " + kinds + " --grpcroute shop/cart"},
		"values of a TLSRoute, as JSON":                          {args: "values -f " + kinds + " --tlsroute shop/mail -o json"},
		"values of a TCPRoute, as YAML":                          {args: "values -f " + kinds + " -n shop --tcproute stock -o yaml"},
		"values of a UDPRoute, of which one parent is refused":   {args: "values -f " + kinds + " --udproute shop/names"},
		"values of a route that is there as another kind":        {args: "values -f " + kinds + " --tcproute shop/cart"},
		"values of two things at once":                           {args: "values -f " + kinds + " --grpcroute shop/cart --httproute shop/cart"},
		"values do not need templates that can be parsed":        {args: "values -f " + broken + "blueprint.yaml --gateway web"},
		"values that are not in effect are an error, and shown":  {args: "values -f " + world + " -f " + broken + "held.yaml --gateway infra/web"},
		"values that are sensitive are redacted in a table":      {args: "values -f " + schema + " --gateway shop/good"},
		"values that are sensitive are redacted in JSON":         {args: "values -f " + schema + " --gateway shop/good -o json"},
		"values that are sensitive are shown on demand":          {args: "values -f " + schema + " --gateway shop/good --show-sensitive -o yaml"},
		"values that a schema does not allow are an error":       {args: "values -f " + schema + " --gateway shop/greedy"},
		"values want to know of what":                            {args: "values -f " + world},
		"values of a Gateway have no parent to choose":           {args: "values -f " + world + " --gateway infra/web --parent a/b"},
		"values of a Gateway that is not there":                  {args: "values -f " + world + " --gateway nobody"},

		"reach of a policy, with its leaves counted":                             {args: reach + "GatewayConfig/infra/web"},
		"reach of a policy that is not the strongest, as JSON":                   {args: reach + "gcc/infra/infra -o json"},
		"reach of a policy, as YAML":                                             {args: reach + "gwcfg/shop/cart -o yaml"},
		"reach of a policy that all Gateways of a class are subject to":          {args: reach + "gatewayclassconfigs/gatewright-system/house-rules"},
		"reach of a policy of which a block is inactive":                         {args: reach + "gcc/gatewright-system/spare"},
		"reach of a policy that targets one listener":                            {args: reach + "gwcfg/infra/section"},
		"reach of a policy whose name alone is given, in the namespace":          {args: reach + "-n infra --kind gatewayconfig section"},
		"reach of a policy without a namespace after its kind":                   {args: reach + "-n infra gwcfg/section"},
		"reach of a policy that matches nothing":                                 {args: reach + "gwcfg/infra/lonely"},
		"reach of a policy that matches nothing, as JSON":                        {args: reach + "gwcfg/infra/lonely -o json"},
		"reach of a policy whose class has no Gateway yet":                       {args: reach + "gcc/gatewright-system/early"},
		"reach of a policy that sets nothing":                                    {args: reach + "gwcfg/infra/idle"},
		"reach of a policy of a condition that does not hold":                    {args: reach + "gwcfg/shop/seldom"},
		"reach of a leaf that a constraint clips":                                {args: reach + "gwcfg/infra/web replicas"},
		"reach of a leaf that a constraint of the policy itself replaces":        {args: reach + "gcc/gatewright-system/house-rules replicas"},
		"reach of a leaf that an override shadows":                               {args: reach + "gcc/infra/infra /region"},
		"reach of a leaf that a policy removes":                                  {args: reach + "gwcfg/infra/web labels.legacy"},
		"reach of a leaf that others remove":                                     {args: reach + "gcc/infra/infra labels.legacy"},
		"reach of all that a policy has below a path":                            {args: reach + "gcc/infra/infra labels"},
		"reach of a leaf by a pointer with escapes":                              {args: reach + "gcc/infra/infra /dotted.key/a~1b -o json"},
		"reach of a leaf by quoted keys":                                         {args: reach + `gcc/infra/infra ["dotted.key"]["a/b"]`},
		"reach of a leaf of an inactive block":                                   {args: reach + "gcc/gatewright-system/spare spare"},
		"reach of a removal that finds nothing":                                  {args: reach + "gwcfg/infra/web nothing.there"},
		"reach of a leaf that the policy does not have":                          {args: reach + "gwcfg/infra/web replica"},
		"reach of a policy that is invalid is what it would reach":               {args: reach + "gwcfg/infra/typo"},
		"reach of a policy that is invalid and guards":                           {args: reach + "-f " + broken + "held.yaml gcc/gatewright-system/guard"},
		"reach of a policy beside an invalid one that guards":                    {args: reach + "-f " + broken + "held.yaml gwcfg/shop/cart greeting"},
		"reach of a policy that is being deleted":                                {args: reach + "gwcfg/infra/leaving"},
		"reach of a policy that is not there, with those that are perhaps meant": {args: reach + "gwcfg/shop/infra"},
		"reach of a policy that says what a schema does not allow":               {args: contract + "gwcfg/shop/greedy"},
		"reach of a policy that says what is the provider's, of a leaf below":    {args: contract + "gwcfg/shop/bold network.subnet"},
		"reach of a leaf that the schema does not know, as JSON":                 {args: contract + "gwcfg/shop/greedy timeuot -o json"},
		"reach of a leaf of a list that is merged":                               {args: contract + "gwcfg/shop/good /origins/1/url"},
		"reach wants a policy":                                                   {args: reach},
		"reach wants one path at most":                                           {args: reach + "gwcfg/infra/web a b"},
		"reach wants a kind of policy":                                           {args: reach + "infra/web"},
		"reach wants a name after the kind":                                      {args: reach + "gwcfg"},
		"reach wants no kind where --kind gives it":                              {args: reach + "--kind gwcfg gwcfg/infra/web"},
		"reach wants a path that can be read":                                    {args: reach + "gwcfg/infra/web a..b"},
		"reach knows its formats":                                                {args: reach + "gwcfg/infra/web -o wide"},

		"the tool says what it can do":                             {args: ""},
		"a plugin of kubectl says how it is called":                {args: "render --help", program: "/usr/local/bin/kubectl-gatewright"},
		"a plugin of kubectl names itself in errors":               {args: "values --nonsense", program: "kubectl-gatewright"},
		"a command that does not exist is refused":                 {args: "rendre"},
		"an argument without a flag is refused, with a hint at -f": {args: "render samples/quickstart"},
		"version prints the version":                               {args: "version"},
	} {
		files[fileOf(name)] = true
		t.Run(name, func(t *testing.T) {
			if c.program == "" {
				c.program = "gatewright"
			}
			got := command(c.stdin, append([]string{c.program}, strings.Fields(c.args)...)...).String()
			file := fileOf(name)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; go test ./cmd/gatewright/... -update writes it", err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.args, diff)
			}
		})
	}
	for _, file := range globbed(t, filepath.Join("testdata", "expected", "*")) {
		if !files[file] {
			t.Errorf("%s belongs to no case; delete it", file)
		}
	}
}

// fileOf is where it stands what a case is expected to print.
func fileOf(name string) string {
	return filepath.Join("testdata", "expected", notInNames.ReplaceAllString(name, "-")+".txt")
}

// notInNames are what the names of cases hold and names of files should not.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9]+`)

const plainGateway = `{
	"apiVersion": "gateway.networking.k8s.io/v1",
	"kind": "Gateway",
	"metadata": {"name": "web"},
	"spec": {"gatewayClassName": "edge", "listeners": [{"name": "http", "port": 80, "protocol": "HTTP"}]}
}
`
