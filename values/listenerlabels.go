package values

import (
	"fmt"
	"maps"
	"strconv"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

const (
	// AnnotationListenerPrefix is the beginning of an annotation on a Gateway or ListenerSet that gives labels to a listener,
	// as in "tier=public,team=a". The listener's name follows it.
	AnnotationListenerPrefix = "listeners." + v1alpha1.GroupName + "/"
	// LabelProtocol is a label that every listener has.
	LabelProtocol = v1alpha1.GroupName + "/protocol"
	// LabelPort is a label that every listener has.
	LabelPort = v1alpha1.GroupName + "/port"
)

// ListenerLabels are the labels that a listenerSelector sees, as Gateway API's listeners have none: the labels of the
// Gateway or ListenerSet, then those of its annotation for the listener, then protocol and port. If the annotation cannot
// be read it counts as absent, and the error says so.
func ListenerLabels(objectLabels, annotations map[string]string, listener, protocol string, port int32) (map[string]string, error) {
	all := make(map[string]string, len(objectLabels)+2)
	maps.Copy(all, objectLabels)
	key := AnnotationListenerPrefix + listener
	own, err := labels.ConvertSelectorToLabelsMap(annotations[key])
	if err != nil {
		err = fmt.Errorf(`annotation %s cannot be read as labels; write it as "tier=public,team=a"`, key)
	}
	maps.Copy(all, own)
	all[LabelProtocol] = protocol
	all[LabelPort] = strconv.Itoa(int(port))
	return all, err
}
