package verdict

import "fmt"

// Verdict is a decision about an object, in the words of a status condition.
type Verdict struct {
	// OK says whether the object passed.
	OK bool
	// Reason is the condition reason, in CamelCase.
	Reason string
	// Message tells a person what was found and what to write instead. It holds no tenant's values.
	Message string
}

// Yes is a verdict in favour.
func Yes(reason, message string) Verdict {
	return Verdict{OK: true, Reason: reason, Message: message}
}

// No is a verdict against, with a message as for fmt.Sprintf.
func No(reason, format string, args ...any) Verdict {
	return Verdict{Reason: reason, Message: fmt.Sprintf(format, args...)}
}
