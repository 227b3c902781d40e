; hint: \bdef\b|\bclass\b|\bmodule\b|\bdefine_method\b
; comments: #
; Definitions of Ruby: modules, classes, methods in every form, constants, accessors.

(module name: (_) @name body: (_)? @body) @module
(class name: (_) @name body: (_)? @body) @class
(singleton_class body: (_) @body)
(method name: (_) @name body: (_)? @inner) @function
(singleton_method object: (constant) @container name: (_) @name body: (_)? @inner) @function
(singleton_method name: (_) @name body: (_)? @inner) @function

(assignment left: (constant) @name right: (call block: (_ body: (_) @body))) @class
(assignment left: (constant) @name) @constant
(assignment left: (left_assignment_list (constant) @name)) @constant
(operator_assignment left: (constant) @name) @constant

(call !receiver method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name @property)
  (#any-of? @_attr "attr_accessor" "attr_reader" "attr_writer" "attr" "cattr_accessor" "mattr_accessor" "class_attribute"))
(call !receiver method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_)? @inner
  (#any-of? @_define "define_method" "alias_method" "scope")) @method
(alias name: (_) @name) @method
(call method: (identifier) arguments: (argument_list (method name: (_) @name body: (_)? @inner) @function))
(call method: (identifier) arguments: (argument_list (singleton_method name: (_) @name body: (_)? @inner) @function))
(call block: (_ body: (_) @deep))
(if) @deep
(unless) @deep
(begin) @deep
