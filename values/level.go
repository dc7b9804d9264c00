package values

import "strconv"

// Level is the place of a block in the order of precedence. Defaults of a higher level win over those of a lower one,
// overrides the other way round. The sub-levels of level 6 are levels of their own.
type Level int

// The levels, from the least to the most specific.
const (
	// LevelBlueprint is the GatewayClassBlueprint itself.
	LevelBlueprint Level = iota + 1
	// LevelClassGlobal is a GatewayClassConfig in the controller's namespace that targets the GatewayClass.
	LevelClassGlobal
	// LevelClassNamespace is a GatewayClassConfig that targets the namespace it is in. This level and the next exist once
	// for each namespace on the path, the Gateway's being the least specific.
	LevelClassNamespace
	// LevelClassLocal is a GatewayClassConfig in any other namespace that targets the GatewayClass.
	LevelClassLocal
	// LevelNamespace is a GatewayConfig that targets the Gateway's namespace.
	LevelNamespace

	// LevelGatewaySelected is a GatewayConfig that selects the Gateway by its labels.
	LevelGatewaySelected
	// LevelGateway is a GatewayConfig that names the Gateway.
	LevelGateway
	// LevelGatewayListenersSelected is a GatewayConfig that selects a listener of the Gateway by its labels.
	LevelGatewayListenersSelected
	// LevelGatewayListener is a GatewayConfig that names a listener of the Gateway.
	LevelGatewayListener

	// LevelListenerSetNamespace is a GatewayConfig that targets the ListenerSet's namespace, where that is another.
	LevelListenerSetNamespace
	// LevelListenerSetSelected is a GatewayConfig that selects the ListenerSet by its labels.
	LevelListenerSetSelected
	// LevelListenerSet is a GatewayConfig that names the ListenerSet.
	LevelListenerSet
	// LevelListenerSetListenersSelected is a GatewayConfig that selects a listener of the ListenerSet by its labels.
	LevelListenerSetListenersSelected
	// LevelListenerSetListener is a GatewayConfig that names a listener of the ListenerSet.
	LevelListenerSetListener

	// LevelRouteNamespace is a GatewayConfig that targets the route's namespace, where that is another.
	LevelRouteNamespace
	// LevelRouteSelected is a GatewayConfig that selects the route by its labels.
	LevelRouteSelected
	// LevelRoute is a GatewayConfig that names the route.
	LevelRoute
	// LevelRule is a GatewayConfig that names a rule of the route.
	LevelRule
)

// lastNumbered is the number that all sub-levels of the Gateway share.
const lastNumbered = 6

var levelNames = map[Level]string{
	LevelBlueprint:                    "blueprint",
	LevelClassGlobal:                  "class, all namespaces",
	LevelClassNamespace:               "namespace, set by the provider",
	LevelClassLocal:                   "class, this namespace",
	LevelNamespace:                    "namespace",
	LevelGatewaySelected:              "Gateway by selector",
	LevelGateway:                      "Gateway",
	LevelGatewayListenersSelected:     "Gateway's listener by selector",
	LevelGatewayListener:              "Gateway's listener",
	LevelListenerSetNamespace:         "ListenerSet's namespace",
	LevelListenerSetSelected:          "ListenerSet by selector",
	LevelListenerSet:                  "ListenerSet",
	LevelListenerSetListenersSelected: "ListenerSet's listener by selector",
	LevelListenerSetListener:          "ListenerSet's listener",
	LevelRouteNamespace:               "route's namespace",
	LevelRouteSelected:                "route by selector",
	LevelRoute:                        "route",
	LevelRule:                         "route's rule",
}

// Number is the level's number, from 1 (the blueprint) to 6 (the Gateway and all that is more specific).
func (l Level) Number() int { return min(int(l), lastNumbered) }

// String names the level for people.
func (l Level) String() string {
	if name, ok := levelNames[l]; ok {
		return name
	}
	return "level " + strconv.Itoa(int(l))
}

// MarshalJSON writes the level's number, as the Rendering does.
func (l Level) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(l.Number()), 10), nil
}
