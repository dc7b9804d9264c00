package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

// policy is a policy and what became of reading it.
type policy struct {
	object  v1alpha1.Policy
	parsed  *values.Policy
	verdict verdict.Verdict
}

func (p policy) String() string { return fmt.Sprintf("%s %s", p.object.PolicyKind(), keyOf(p.object)) }

// compiled is a blueprint's program, or why there is none.
type compiled struct {
	program *render.Program
	err     error
}

// session takes a world the way that the controller takes a cluster, reading each policy and each blueprint once.
type session struct {
	*world
	policies map[v1alpha1.Policy]policy
	programs map[string]compiled
}

func newSession(w *world) *session {
	s := &session{world: w, policies: map[v1alpha1.Policy]policy{}, programs: map[string]compiled{}}
	for _, p := range w.objects.ClassConfigs {
		s.read(p)
	}
	for _, p := range w.objects.Configs {
		s.read(p)
	}
	return s
}

func (s *session) read(object v1alpha1.Policy) {
	parsed, v := values.Parse(object)
	s.policies[object] = policy{object, parsed, v}
}

// inputs is what a Gateway's values are computed from. Program is missing if the templates cannot be used; then they count as
// reading all that is said.
func (s *session) inputs(key types.NamespacedName) (desired.Inputs, error) {
	snapshot, err := s.objects.Snapshot(key)
	if err != nil {
		return desired.Inputs{}, err
	}
	blueprint, v := desired.CompileValues(snapshot.Blueprint)
	if !v.OK {
		return desired.Inputs{}, blueprintError(snapshot.Blueprint.Name, v.Message)
	}
	in := desired.Inputs{
		Snapshot: snapshot, Merged: gateway.Merge(snapshot), Blueprint: blueprint,
		BlueprintGeneration: snapshot.Blueprint.Generation,
		ControllerNamespace: s.objects.ControllerNamespace, ClusterScoped: s.clusterScoped,
	}
	for _, p := range snapshot.Policies {
		in.Policies = append(in.Policies, s.policies[p].parsed)
	}
	_ = s.compile(&in) // who renders asks again
	return in, nil
}

// everyInputs are those of all Gateways of which they are known, in order.
func (s *session) everyInputs() []desired.Inputs {
	var all []desired.Inputs
	for _, key := range s.gateways() {
		if in, err := s.inputs(key); err == nil {
			all = append(all, in)
		}
	}
	return all
}

// reportRefused tells of which policies target references are not accepted where values were computed.
func (s *session) reportRefused(r *report, in desired.Inputs, e values.Effective) {
	for _, p := range s.sorted(in.Snapshot.Policies) {
		for _, refused := range e.Refused {
			if p.verdict.OK && refused.Source == p.parsed.Ref() {
				r.refused(p.String(), desired.Refused(p.object, in.Snapshot.Blueprint.Name, refused.Refs))
			}
		}
	}
}

// compile adds the program, so that the Gateway can be rendered.
func (s *session) compile(in *desired.Inputs) error {
	blueprint := in.Snapshot.Blueprint
	c, known := s.programs[blueprint.Name]
	if !known {
		if c.program, c.err = render.Compile(blueprint); c.err != nil {
			c.err = blueprintError(blueprint.Name, c.err.Error())
		}
		s.programs[blueprint.Name] = c
	}
	in.Program = c.program
	return c.err
}

// blueprintError is about a blueprint that cannot be used; the problems come one a line.
func blueprintError(name, problems string) error {
	lines := strings.Split(problems, "\n")
	for i := range lines {
		lines[i] = fmt.Sprintf("%s %s: %s", v1alpha1.KindGatewayClassBlueprint, name, lines[i])
	}
	return errors.New(strings.Join(lines, "\n"))
}

// reportInvalid tells which of the policies that a Gateway's values might come from are invalid.
func (s *session) reportInvalid(r *report, in desired.Inputs) {
	for _, p := range s.sorted(in.Snapshot.Policies) {
		r.refused(p.String(), p.verdict)
	}
}

// sorted are what was read of policies, in order; those that are being deleted count no more.
func (s *session) sorted(objects []v1alpha1.Policy) []policy {
	var list []policy
	for _, object := range objects {
		if object.GetDeletionTimestamp() == nil {
			list = append(list, s.policies[object])
		}
	}
	slices.SortFunc(list, func(a, b policy) int { return cmp.Compare(a.parsed.Ref(), b.parsed.Ref()) })
	return list
}

// gateways are the names of all Gateways, sorted.
func (s *session) gateways() []types.NamespacedName {
	var keys []types.NamespacedName
	for _, gw := range s.objects.Gateways {
		keys = append(keys, keyOf(gw))
	}
	slices.SortFunc(keys, byNamespace)
	return keys
}

// byNamespace sorts names by namespace, then by name.
func byNamespace(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
