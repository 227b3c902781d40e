; hint: \bdef\b|\bclass\b|\bobject\b|\btrait\b
; comments: //
; Definitions of Scala: types, members, functions at any depth.

(class_definition name: (_) @name body: (_)? @body) @class
(class_definition class_parameters: (class_parameters (class_parameter name: (_) @name) @property))
(object_definition name: (_) @name body: (_)? @body) @class
(trait_definition name: (_) @name body: (_)? @body) @interface
(enum_definition name: (_) @name body: (_) @body) @enum
(enum_case_definitions (simple_enum_case name: (_) @name) @enummember)
(enum_case_definitions (full_enum_case name: (_) @name) @enummember)
(function_definition name: (_) @name body: (_)? @inner) @function
(function_declaration name: (_) @name) @function @declaration
(val_definition pattern: (identifier) @name) @constant
(var_definition pattern: (identifier) @name) @variable
(val_declaration name: (_) @name) @constant
(var_declaration name: (_) @name) @variable
(type_definition name: (_) @name) @class
(given_definition name: (_) @name body: (_)? @body) @variable
(package_clause body: (_) @body)
(package_object name: (_) @name body: (_) @body) @module
(extension_definition body: (_)? @deep)
(lambda_expression) @scope
