#include "rooms.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The numeric core of rankcut. Private: use the package's own modules.";
    bind_bags(m);
    bind_graph(m);
    bind_loss(m);
    bind_product(m);
    bind_qp(m);
    bind_svmlight(m);
}
