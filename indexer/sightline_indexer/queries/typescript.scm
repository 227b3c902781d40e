; inherits: javascript_base
; What TypeScript adds: types, signatures, namespaces, ambient declarations, parameter properties.

; An object literal keeps its members when its type is narrowed.
(lexical_declaration (variable_declarator name: (identifier) @name value: (as_expression . (object) @body)) @variable)
(lexical_declaration (variable_declarator name: (identifier) @name value: (satisfies_expression . (object) @body)) @variable)

(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name value: (object_type) @body) @class
(type_alias_declaration name: (_) @name) @class
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_body [(property_identifier) (string)] @name @enummember)
(enum_body (enum_assignment name: (_) @name) @enummember)
(function_signature name: (_) @name) @function @declaration
(internal_module name: (_) @name body: (_) @body) @namespace
(module name: (_) @name body: (_) @body) @module
(expression_statement (internal_module name: (_) @name body: (_) @body) @namespace)
(ambient_declaration) @body

(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @inner) (function_expression body: (_) @inner)]) @method
(public_field_definition name: (_) @name) @field
(class_body (method_signature name: (_) @name) @method @declaration)
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method @declaration
(property_signature name: (_) @name) @property
(method_definition parameters: (formal_parameters
  (required_parameter [(accessibility_modifier) "readonly"] pattern: (identifier) @name) @property))
