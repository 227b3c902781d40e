; hint: \bfunction\b|\bclass\b
; comments: // #
; Definitions of PHP: namespaces, types, members with promoted properties, constants, functions at any depth.

(namespace_definition name: (_) @name body: (_) @body) @namespace
(namespace_definition name: (_) @name) @namespace
(class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(trait_declaration name: (_) @name body: (_) @body) @class
(enum_declaration name: (_) @name body: (_) @body) @enum
(enum_case name: (_) @name) @enummember
(function_definition name: (_) @name body: (_) @inner) @function
(method_declaration name: (_) @name body: (_) @inner) @method
(method_declaration name: (_) @name) @method @declaration
(method_declaration parameters: (formal_parameters (property_promotion_parameter name: (variable_name (name) @name)) @property))
(property_declaration (property_element name: (variable_name (name) @name))) @property
(const_declaration (const_element (name) @name) @constant)
(expression_statement (function_call_expression function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name))) (#eq? @_define "define")) @constant)
(expression_statement (assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function body: (_) @inner) (arrow_function body: (_) @inner)]) @function @value)
(expression_statement (assignment_expression left: (variable_name (name) @name)) @variable)

(expression_statement) @deep
(return_statement) @deep
(if_statement) @deep
(try_statement) @deep
(foreach_statement) @deep
(anonymous_function body: (_) @body) @scope
(arrow_function body: (_) @body) @scope
