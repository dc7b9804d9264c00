package v1alpha1

// Names that Gatewright is known by in a cluster.
const (
	// ControllerName is the value of GatewayClass.spec.controllerName that makes a class ours.
	ControllerName = "gatewright.dev/controller"
	// FieldManager is the one field manager under which rendered objects are applied.
	FieldManager = "gatewright"
	// DefaultControllerNamespace is where GatewayClassConfigs reach all Gateways of a class, unless
	// --controller-namespace says otherwise.
	DefaultControllerNamespace = "gatewright-system"
)

// Labels and annotations on rendered objects.
const (
	// LabelOwnerUID holds the uid of the Gateway or route that an object was rendered for. It is how owned objects are found.
	LabelOwnerUID = GroupName + "/owner-uid"
	// LabelTemplate holds the name of the template that rendered the object.
	LabelTemplate = GroupName + "/template"
	// AnnotationOwner names the owner for people, and for objects that can have no ownerReference: "Gateway/ns/name".
	AnnotationOwner = GroupName + "/owner"
	// AnnotationOrder is set on objects of templates that read other templates' live objects: how long the longest chain of such
	// templates is that the object stands on. What stands on others is deleted before them.
	AnnotationOrder = GroupName + "/order"
	// AnnotationRendered holds a hash of the object as it was rendered; an object whose hash and field ownership both
	// still stand is not applied again. If it was applied as a ServiceAccount, that follows: "hash as namespace/name".
	AnnotationRendered = GroupName + "/rendered"
)

// Finalizers.
const (
	// FinalizerBlueprint keeps a blueprint while anything that was rendered from it lives.
	FinalizerBlueprint = GroupName + "/blueprint-in-use"
	// FinalizerClusterScoped keeps a Gateway or route while cluster-scoped objects of it live, which no owner reference
	// of a namespaced parent can reach.
	FinalizerClusterScoped = GroupName + "/cluster-scoped-objects"
)

// Condition types of Gatewright's own kinds; Gateway API's come from its own module.
const (
	// ConditionAccepted says whether an object is valid and will be acted on.
	ConditionAccepted = "Accepted"
	// ConditionResolvedRefs says, on a blueprint that has a serviceAccountRef, whether there is such a ServiceAccount.
	ConditionResolvedRefs = "ResolvedRefs"
	// ConditionProgrammed says whether what an object asks for is in effect.
	ConditionProgrammed = "Programmed"
	// ConditionGatewayClassConfigAffected and ConditionGatewayConfigAffected say, on what policies are attached to, which
	// policies of the kind have a part in its values.
	ConditionGatewayClassConfigAffected = GroupName + "/GatewayClassConfigAffected"
	ConditionGatewayConfigAffected      = GroupName + "/GatewayConfigAffected"
	// ConditionRouteProgrammed says, in a route's status for one parent, whether what was rendered for it is in effect.
	ConditionRouteProgrammed = GroupName + "/Programmed"
	// ConditionRendered says whether every template of a parent yielded its objects.
	ConditionRendered = "Rendered"
	// ConditionApplied says whether every rendered object is applied as rendered.
	ConditionApplied = "Applied"
	// ConditionHealthy says whether every rendered object that reports readiness is ready.
	ConditionHealthy = "Healthy"
)

// Condition reasons of Gatewright's own kinds.
const (
	ReasonAccepted       = "Accepted"
	ReasonProgrammed     = "Programmed"
	ReasonInvalid        = "Invalid"
	ReasonTargetNotFound = "TargetNotFound"
	ReasonResolvedRefs   = "ResolvedRefs"
	// ReasonServiceAccountNotFound marks a blueprint whose ServiceAccount does not exist or is being deleted.
	ReasonServiceAccountNotFound = "ServiceAccountNotFound"
	ReasonOverridden             = "Overridden"
	// ReasonPartiallyProgrammed marks a policy of which some values are set by others.
	ReasonPartiallyProgrammed = "PartiallyProgrammed"
	// ReasonReconciling marks a policy of which no value is in effect yet.
	ReasonReconciling = "Reconciling"
	// ReasonAffected is the reason of the conditions that name the policies which affect an object.
	ReasonAffected    = "Affected"
	ReasonPending     = "Pending"
	ReasonRendered    = "Rendered"
	ReasonFailed      = "RenderFailed"
	ReasonApplied     = "Applied"
	ReasonApplyFailed = "ApplyFailed"
	// ReasonThrashing marks a parent of which an object is changed again and again by somebody else, so that it is restored less often.
	ReasonThrashing = "Thrashing"
	ReasonHealthy   = "Healthy"
	// ReasonDeletionBlocked marks a parent whose deletion waits for an object that does not go away.
	ReasonDeletionBlocked = "DeletionBlocked"
	// ReasonStatusFull marks a route whose status holds as many entries of other controllers as there may be.
	ReasonStatusFull = "StatusFull"
)
