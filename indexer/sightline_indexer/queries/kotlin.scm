; hint: \bfun\b|\bclass\b|\bobject\b|\binterface\b
; comments: //
; Definitions of Kotlin: types, functions and properties; extensions live under the type they extend.

(class_declaration "interface" (type_identifier) @name (class_body)? @body) @interface
(class_declaration "enum" (type_identifier) @name (enum_class_body) @body) @enum
(class_declaration (type_identifier) @name (class_body) @body) @class
(class_declaration (type_identifier) @name) @class
(class_declaration (primary_constructor (class_parameter (binding_pattern_kind) (simple_identifier) @name) @property))
(object_declaration (type_identifier) @name (class_body) @body) @class
(object_declaration (type_identifier) @name) @class
(companion_object (type_identifier) @name (class_body) @body) @class
(companion_object . (class_body) @body)
(enum_entry (simple_identifier) @name (class_body) @body) @enummember
(enum_entry (simple_identifier) @name) @enummember
(secondary_constructor "constructor" @name) @constructor
(type_alias (type_identifier) @name) @class

(function_declaration receiver: (receiver_type) @container (simple_identifier) @name (function_body)? @inner) @function
(function_declaration (simple_identifier) @name (function_body) @inner) @function
(function_declaration (simple_identifier) @name) @function @declaration
(property_declaration receiver: (receiver_type) @container (variable_declaration (simple_identifier) @name)) @property
(property_declaration (modifiers (property_modifier) @_const) (variable_declaration (simple_identifier) @name) (#eq? @_const "const")) @constant
(property_declaration (variable_declaration (simple_identifier) @name) (object_literal)? @deep) @property
(lambda_literal) @scope
